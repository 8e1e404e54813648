import { AppShell, Badge, Button, Container, NavLink, Title } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { NavLink as RouterLink, useLocation } from 'react-router';
import { Frame } from '../parts/frame.js';
import { LoadingState } from '../parts/states.js';
import { t, type TextKey } from '../text/text.js';
import { ZoneContext } from '../zone.js';
import { isSandbox, mayUseSandbox, metaOf, SignedInContext, useConfigQuery, useSignedIn } from './account.js';
import { getKey, onKeyChange, roleOf, signOut, type Role } from './client.js';
import { SignIn } from './sign-in.js';

const pages: { to: string; label: TextKey; isShown?: (role: Role) => boolean }[] = [
  { to: '/', label: 'overview' },
  { to: '/requests', label: 'requests' },
  { to: '/webhooks', label: 'webhooks' },
  { to: '/statement', label: 'statement' },
  { to: '/sandbox', label: 'sandbox', isShown: mayUseSandbox },
  { to: '/settings', label: 'settings' },
];

/**
 * The frame of every page of the portal, with the account and the menu. Without a key, it shows the
 * sign-in page.
 */
export function PortalShell(): React.ReactElement {
  const key = useSyncExternalStore(onKeyChange, getKey);
  const role = key === null ? null : roleOf(key);
  const config = useConfigQuery(key);
  if (key === null || role === null) {
    return <SignIn />;
  }
  if (!config.data) {
    return config.error ? (
      <RefusedKey error={config.error} />
    ) : (
      <LoadingState error={null} retry={config.refetch} />
    );
  }
  return (
    <ZoneContext value={metaOf('time-zone')}>
      <SignedInContext value={{ key, role, config: config.data }}>
        <Frame title={config.data.username} right={<Mode />} menu={<Menu />} />
      </SignedInContext>
    </ZoneContext>
  );
}

/** The page for a valid key that is refused, for example because of the IP address. */
function RefusedKey({ error }: { error: Error }): React.ReactElement {
  const queries = useQueryClient();
  return (
    <Container size={480} py="xl" component="main">
      <Title order={1} size="h3">
        {t('portal')}
      </Title>
      <LoadingState error={error} retry={(options) => queries.invalidateQueries({}, options)} />
      <Button variant="default" onClick={() => signOut(null)}>
        {t('signOut')}
      </Button>
    </Container>
  );
}

/** Shows whether the account works with real money or in the sandbox. */
function Mode(): React.ReactElement {
  return !isSandbox() ? (
    <Badge variant="dot" color="red" tt="none" miw="max-content">
      {t('modeLive')}
    </Badge>
  ) : (
    <Badge variant="dot" color="blue" tt="none" miw="max-content">
      {t('modeSandbox')}
    </Badge>
  );
}

function Menu(): React.ReactElement {
  const { pathname } = useLocation();
  const { role } = useSignedIn();
  return (
    <AppShell.Navbar p="xs" aria-label={t('menu')}>
      <AppShell.Section grow>
        {pages
          .filter(({ isShown }) => isShown?.(role) ?? true)
          .map(({ to, label }) => (
            <NavLink
              key={to}
              component={RouterLink}
              to={to}
              label={t(label)}
              active={pathname === to}
              variant="subtle"
              fw={pathname === to ? 700 : 400}
            />
          ))}
        <NavLink href="/docs" label={t('documentation')} />
      </AppShell.Section>
      <AppShell.Section>
        <Button variant="default" size="xs" fullWidth onClick={() => signOut(null)}>
          {t('signOut')}
        </Button>
      </AppShell.Section>
    </AppShell.Navbar>
  );
}
