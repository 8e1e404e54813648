import { NativeSelect } from '@mantine/core';
import { useState } from 'react';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import type { components } from '../api/schema.js';
import { useMay } from '../session.js';
import { t } from '../text/text.js';
import { ActionForm } from './action-form.js';
import { useProof } from './proof.js';
import { EndSessions } from './sessions.js';
import { OneTimeSecrets } from './one-time-secrets.js';
import { RowActions } from './row-actions.js';

type Listed = components['schemas']['ListOperatorsData'];
export type Operator = Listed['operators'][number];
type Role = Operator['role'];

/** The roles, ordered from the fewest rights to the most. */
export const roles: Role[] = ['viewer', 'support', 'finance', 'operations', 'admin'];

const buildPathParams = ({ username }: Operator) => ({ params: { path: { username } } });

/** The actions on another operator for which the logged-in operator has the right. */
export function OperatorActions({ of }: { of: Operator }): React.ReactElement | null {
  const [mayManage, mayEnd] = [useMay('operator.manage'), useMay('operator.end-sessions')];
  const operator = of.username;
  if (!mayManage && !mayEnd) {
    return null;
  }
  return (
    <RowActions>
      {mayEnd && (
        <EndSessions
          of={of.sessions}
          title={t('endSessions')}
          consequence={t('endSessionsHelp', { operator })}
          run={(session, reason) =>
            unwrapData(
              api.POST('/operators/{username}/end-sessions', {
                ...buildPathParams(of),
                body: { session, reason },
              }),
            )
          }
        />
      )}
      {mayManage && (
        <>
          <ChangeRole of={of} />
          <ResetPassword of={of} />
          {of.has_second_factor && <ResetSecondFactor of={of} />}
          <Remove of={of} />
        </>
      )}
    </RowActions>
  );
}

function ChangeRole({ of }: { of: Operator }): React.ReactElement {
  const [role, setRole] = useState(of.role);
  const { fields, prove } = useProof();
  return (
    <ActionForm
      title={t('setRole')}
      consequence={t('setRoleHelp', { operator: of.username })}
      run={(reason) =>
        prove((proof) =>
          unwrapData(
            api.POST('/operators/{username}/role', {
              ...buildPathParams(of),
              body: { role, reason, ...proof },
            }),
          ),
        )
      }
    >
      <RoleSelect value={role} change={setRole} />
      {fields}
    </ActionForm>
  );
}

export function RoleSelect({
  value,
  change,
}: {
  value: Role;
  change: (to: Role) => void;
}): React.ReactElement {
  return (
    <NativeSelect
      label={t('role')}
      value={value}
      onChange={(event) => change(roles.find((each) => each === event.currentTarget.value) ?? value)}
      data={roles.map((each) => ({ value: each, label: `${each}: ${t(`role_${each}`)}` }))}
    />
  );
}

function ResetPassword({ of }: { of: Operator }): React.ReactElement {
  const [made, setMade] = useState<string[]>([]);
  const { fields, prove } = useProof();
  return (
    <>
      <ActionForm
        title={t('resetPassword')}
        consequence={t('resetPasswordHelp', { operator: of.username })}
        run={async (reason) => {
          setMade([]);
          const { password } = await prove((proof) =>
            unwrapData(
              api.POST('/operators/{username}/password', {
                ...buildPathParams(of),
                body: { reason, ...proof },
              }),
            ),
          );
          setMade([password]);
        }}
      >
        {fields}
      </ActionForm>
      <OneTimeSecrets title={t('passwordOnce', { operator: of.username })} secrets={made} />
    </>
  );
}

function ResetSecondFactor({ of }: { of: Operator }): React.ReactElement {
  const { fields, prove } = useProof();
  return (
    <ActionForm
      title={t('resetSecondFactor')}
      consequence={t('resetSecondFactorHelp', { operator: of.username })}
      danger
      run={(reason) =>
        prove((proof) =>
          unwrapData(
            api.POST('/operators/{username}/reset-second-factor', {
              ...buildPathParams(of),
              body: { reason, ...proof },
            }),
          ),
        )
      }
    >
      {fields}
    </ActionForm>
  );
}

function Remove({ of }: { of: Operator }): React.ReactElement {
  const { fields, prove } = useProof();
  return (
    <ActionForm
      title={t('removeOperator')}
      consequence={t('removeOperatorHelp', { operator: of.username })}
      danger
      run={(reason) =>
        prove((proof) =>
          unwrapData(
            api.POST('/operators/{username}/remove', { ...buildPathParams(of), body: { reason, ...proof } }),
          ),
        )
      }
    >
      {fields}
    </ActionForm>
  );
}
