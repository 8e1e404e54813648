import { useQuery } from '@tanstack/react-query';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import { useSession } from '../session.js';
import { describeRight } from '../text/rights.js';
import { t } from '../text/text.js';
import { Rows } from './rows.js';
import { Section } from './section.js';
import { LoadingState } from './states.js';

function useRights() {
  return useQuery({
    queryKey: ['rights'],
    queryFn: () => unwrapData(api.GET('/rights')),
    staleTime: Infinity,
  });
}

/** The rights of each role, which apply in the console and on the command line. */
export function RightsTable(): React.ReactElement {
  const found = useRights();
  return (
    <Section title={t('rolePermissions')}>
      {found.data ? (
        <Rows
          label={t('rolePermissions')}
          heads={[t('what'), ...found.data.roles]}
          minWidth={720}
          rows={found.data.rights.map(({ action, does, roles: may }) => ({
            key: action,
            cells: [
              describeRight(action, does),
              ...found.data.roles.map((role) => (may.includes(role) ? t('yes') : '')),
            ],
          }))}
        />
      ) : (
        <LoadingState error={found.error} retry={found.refetch} />
      )}
    </Section>
  );
}

/** The rights of the logged-in operator. */
export function OwnRights(): React.ReactElement {
  const found = useRights();
  const { role, actions } = useSession();
  return (
    <Section title={t('ownPermissions', { role })}>
      {found.data ? (
        <ul>
          {found.data.rights
            .filter(({ action }) => actions.includes(action))
            .map(({ action, does }) => (
              <li key={action}>{describeRight(action, does)}</li>
            ))}
        </ul>
      ) : (
        <LoadingState error={found.error} retry={found.refetch} />
      )}
    </Section>
  );
}
