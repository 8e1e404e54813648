import { AppShell, Button, NavLink, Text } from '@mantine/core';
import { spotlight } from '@mantine/spotlight';
import { NavLink as RouterLink, useLocation } from 'react-router';
import { antiForgeryToken } from './api/client.js';
import { Finder } from './parts/finder.js';
import { Frame } from './parts/frame.js';
import { LoadingState } from './parts/states.js';
import { SessionContext, useSessionQuery, type Action, type Session } from './session.js';
import { t, type TextKey } from './text/text.js';
import { ZoneContext } from './zone.js';

const pages: { to: string; label: TextKey; action: Action }[] = [
  { to: '/', label: 'today', action: 'console.start' },
  { to: '/purchases', label: 'purchases', action: 'purchase.look' },
  { to: '/cases', label: 'cases', action: 'purchase.look' },
  { to: '/deposits', label: 'deposits', action: 'deposit.look' },
  { to: '/bank-lines', label: 'bankStatements', action: 'bank-line.look' },
  { to: '/settlements', label: 'settlements', action: 'settlement.look' },
  { to: '/adjustments', label: 'adjustments', action: 'adjustment.look' },
  { to: '/products', label: 'products', action: 'product.look' },
  { to: '/price-imports', label: 'priceImports', action: 'product.look' },
  { to: '/markups', label: 'markups', action: 'markup.look' },
  { to: '/providers', label: 'providers', action: 'provider.look' },
  { to: '/webhooks', label: 'webhooks', action: 'webhook.look' },
  { to: '/ledger', label: 'ledger', action: 'ledger.verify' },
  { to: '/system', label: 'system', action: 'system.look' },
  { to: '/jobs', label: 'jobs', action: 'queue.look' },
  { to: '/audit', label: 'audit', action: 'audit.look' },
  { to: '/accounts', label: 'accounts', action: 'account.look' },
  { to: '/operators', label: 'operators', action: 'operator.look' },
];

/**
 * The frame of every page of the console, with the menu, the search and the name of the operator.
 */
export function Shell(): React.ReactElement {
  const session = useSessionQuery();
  if (!session.data) {
    return <LoadingState error={session.error} retry={session.refetch} outageAdvice={t('askDoctor')} />;
  }
  return (
    <SessionContext value={session.data}>
      <ZoneContext value={session.data.time_zone}>
        <Frame
          title={t('title')}
          right={
            <Button variant="default" size="xs" onClick={spotlight.open} aria-keyshortcuts="Control+K">
              {t('find')}
              <Text component="span" size="xs" ms="xs" visibleFrom="sm">
                Ctrl K
              </Text>
            </Button>
          }
          menu={<Menu session={session.data} />}
          outageAdvice={t('askDoctor')}
        />
        <Finder />
      </ZoneContext>
    </SessionContext>
  );
}

function isAt(pathname: string, to: string): boolean {
  return pathname === to || (to !== '/' && pathname.startsWith(`${to}/`));
}

/**
 * Adds the CSRF token to a form when it is submitted. A password change replaces the session of
 * this browser, so an earlier token may be invalid.
 */
function addToken({ currentTarget: form }: React.SyntheticEvent<HTMLFormElement>): void {
  const field = form.elements.namedItem('_csrf');
  if (field instanceof HTMLInputElement) {
    field.value = antiForgeryToken();
  }
}

function Menu({ session: { username, role, actions } }: { session: Session }): React.ReactElement {
  const { pathname } = useLocation();
  return (
    <AppShell.Navbar p="xs" aria-label={t('menu')}>
      <AppShell.Section grow>
        {pages
          .filter(({ action }) => actions.includes(action))
          .map(({ to, label }) => (
            <NavLink
              key={to}
              component={RouterLink}
              to={to}
              label={t(label)}
              active={isAt(pathname, to)}
              variant="subtle"
              fw={isAt(pathname, to) ? 700 : 400}
            />
          ))}
        {/* The Bull board is not a page of this router. */}
        {actions.includes('queue.look') && <NavLink href="/admin/queues" label={t('queues')} />}
      </AppShell.Section>
      <AppShell.Section>
        <NavLink
          component={RouterLink}
          to="/me"
          label={
            <>
              {username}
              <Text component="span" size="xs" display="block">
                {role}
              </Text>
            </>
          }
          active={isAt(pathname, '/me')}
          variant="subtle"
          fw={isAt(pathname, '/me') ? 700 : 400}
        />
        <form method="post" action="/admin/logout" onSubmit={addToken}>
          <input type="hidden" name="_csrf" />
          <Button type="submit" variant="default" size="xs" fullWidth>
            {t('logOut')}
          </Button>
        </form>
      </AppShell.Section>
    </AppShell.Navbar>
  );
}
