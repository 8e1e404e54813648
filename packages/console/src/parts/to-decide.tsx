import { Button, Collapse, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { t } from '../text/text.js';

/** Forms of one row of a list, shown when they are asked for. */
export function ToDecide({ children }: { children: ReactNode }): React.ReactElement {
  const [opened, { toggle }] = useDisclosure(false);
  return (
    <>
      <Button variant="default" size="xs" mt="sm" onClick={toggle} aria-expanded={opened}>
        {t('actions')}
      </Button>
      <Collapse expanded={opened}>
        <Stack gap="sm" mt="sm">
          {children}
        </Stack>
      </Collapse>
    </>
  );
}
