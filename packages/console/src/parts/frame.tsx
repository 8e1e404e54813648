import { AppShell, Burger, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useEffect } from 'react';
import { Outlet, useLocation } from 'react-router';
import { t } from '../text/text.js';
import { StaleDataNotice } from './stale-data-notice.js';

/** The frame of a page, with a header and a menu. On a phone, a button opens the menu. */
export function Frame({
  title,
  right,
  menu,
  outageAdvice,
}: {
  /** The text at the left end of the header. */
  title: string;
  /** The content at the right end of the header. */
  right: React.ReactNode;
  menu: React.ReactNode;
  /** Tells the user what to do during an outage. */
  outageAdvice?: string;
}): React.ReactElement {
  const [opened, { toggle, close }] = useDisclosure(false);
  const { pathname } = useLocation();
  useEffect(close, [pathname, close]);
  return (
    <AppShell
      // No animation, because a click can miss a control that moves.
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
              {title}
            </Text>
          </Group>
          {right}
        </Group>
      </AppShell.Header>
      {menu}
      <AppShell.Main>
        <StaleDataNotice advice={outageAdvice} />
        <Outlet />
      </AppShell.Main>
    </AppShell>
  );
}
