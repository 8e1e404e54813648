import { AppShell, Burger, Button, Group, NavLink, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { spotlight } from '@mantine/spotlight';
import { useEffect } from 'react';
import { NavLink as RouterLink, Outlet, useLocation } from 'react-router';
import { antiForgeryToken } from './api/client.js';
import { Finder } from './parts/finder.js';
import { Waiting } from './parts/states.js';
import { SessionContext, useSessionQuery, type Action, type Session } from './session.js';
import { t, type TextKey } from './text/text.js';

const pages: { to: string; label: TextKey; action: Action }[] = [
  { to: '/', label: 'today', action: 'console.start' },
  { to: '/purchases', label: 'purchases', action: 'purchase.look' },
  { to: '/cases', label: 'cases', action: 'purchase.look' },
  { to: '/deposits', label: 'deposits', action: 'deposit.look' },
  { to: '/settlements', label: 'settlements', action: 'settlement.look' },
  { to: '/products', label: 'products', action: 'product.look' },
  { to: '/providers', label: 'providers', action: 'provider.look' },
  { to: '/webhooks', label: 'webhooks', action: 'webhook.look' },
  { to: '/ledger', label: 'ledger', action: 'ledger.verify' },
  { to: '/system', label: 'system', action: 'system.look' },
  { to: '/audit', label: 'audit', action: 'audit.look' },
  { to: '/accounts', label: 'accounts', action: 'account.look' },
];

/** Pages that the server writes itself. */
const serverPages: { href: string; label: TextKey; action: Action }[] = [
  { href: '/admin/queues', label: 'queues', action: 'queue.look' },
  { href: '/admin/operators', label: 'operators', action: 'operator.look' },
];

/** What is around every page: where else to go, search, and who is logged in. */
export function Shell(): React.ReactElement {
  const session = useSessionQuery();
  const [opened, { toggle, close }] = useDisclosure(false);
  const { pathname } = useLocation();
  useEffect(close, [pathname, close]);
  if (!session.data) {
    return <Waiting error={session.error} again={session.refetch} />;
  }
  return (
    <SessionContext value={session.data}>
      <AppShell
        // What moves is missed by a click.
        transitionDuration={0}
        header={{ height: 56 }}
        navbar={{ width: 200, breakpoint: 'sm', collapsed: { mobile: !opened } }}
        padding="md"
      >
        <AppShell.Header>
          <Group h="100%" px="md" justify="space-between" wrap="nowrap">
            <Group wrap="nowrap" gap="xs">
              <Burger
                opened={opened}
                onClick={toggle}
                hiddenFrom="sm"
                size="sm"
                aria-label={opened ? t('closeMenu') : t('openMenu')}
                aria-expanded={opened}
              />
              <Text fw={700} truncate>
                {t('title')}
              </Text>
            </Group>
            <Button variant="default" size="xs" onClick={spotlight.open} aria-keyshortcuts="Control+K">
              {t('find')}
              <Text component="span" size="xs" ms="xs" visibleFrom="sm">
                Ctrl K
              </Text>
            </Button>
          </Group>
        </AppShell.Header>
        <Menu session={session.data} />
        <AppShell.Main>
          <Outlet />
        </AppShell.Main>
      </AppShell>
      <Finder />
    </SessionContext>
  );
}

function isAt(pathname: string, to: string): boolean {
  return pathname === to || (to !== '/' && pathname.startsWith(`${to}/`));
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
        {serverPages
          .filter(({ action }) => actions.includes(action))
          .map(({ href, label }) => (
            <NavLink key={href} href={href} label={t(label)} />
          ))}
      </AppShell.Section>
      <AppShell.Section>
        <NavLink href="/admin/me" label={username} description={role} />
        <form method="post" action="/admin/logout">
          <input type="hidden" name="_csrf" value={antiForgeryToken()} />
          <Button type="submit" variant="default" size="xs" fullWidth>
            {t('logOut')}
          </Button>
        </form>
      </AppShell.Section>
    </AppShell.Navbar>
  );
}
