import { AppShell, Burger, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useEffect } from 'react';
import { Outlet, useLocation } from 'react-router';
import { t } from '../text/text.js';
import { NotUpdated } from './not-updated.js';

/** A page between a line above it and the menu, which a phone shows when it is asked for. */
export function Frame({
  title,
  right,
  menu,
  outageAdvice,
}: {
  /** In the line above, at the left. */
  title: string;
  /** At its right. */
  right: React.ReactNode;
  menu: React.ReactNode;
  /** What a reader can do when the service cannot answer. */
  outageAdvice?: string;
}): React.ReactElement {
  const [opened, { toggle, close }] = useDisclosure(false);
  const { pathname } = useLocation();
  useEffect(close, [pathname, close]);
  return (
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
              {title}
            </Text>
          </Group>
          {right}
        </Group>
      </AppShell.Header>
      {menu}
      <AppShell.Main>
        <NotUpdated advice={outageAdvice} />
        <Outlet />
      </AppShell.Main>
    </AppShell>
  );
}
