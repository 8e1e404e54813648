import { Button, Collapse, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { t } from '../text/text.js';

/** Hides the forms of a list row behind a button. */
export function RowActions({
  label = t('actions'),
  children,
}: {
  /** Label of the button. */
  label?: string;
  children: ReactNode;
}): React.ReactElement {
  const [opened, { toggle }] = useDisclosure(false);
  return (
    <>
      <Button
        variant="default"
        size="xs"
        mt="sm"
        onClick={toggle}
        aria-expanded={opened}
        style={{ alignSelf: 'flex-start' }}
      >
        {label}
      </Button>
      <Collapse expanded={opened}>
        <Stack gap="sm" mt="sm">
          {children}
        </Stack>
      </Collapse>
    </>
  );
}
