import { Box, SimpleGrid, Text } from '@mantine/core';
import type { ReactNode } from 'react';

/**
 * A list of names and values. Entries with an empty, null, undefined or false value are left out.
 */
export function Facts({ of }: { of: [string, ReactNode][] }): React.ReactElement {
  return (
    <SimpleGrid component="dl" cols={{ base: 1, xs: 2, md: 3 }} spacing="md" verticalSpacing="sm" my="md">
      {of
        .filter(([, value]) => value !== null && value !== undefined && value !== false && value !== '')
        .map(([name, value]) => (
          <div key={name}>
            <Text component="dt" size="xs" c="dimmed">
              {name}
            </Text>
            <Box component="dd" m={0} fz="sm" style={{ overflowWrap: 'anywhere' }}>
              {value}
            </Box>
          </div>
        ))}
    </SimpleGrid>
  );
}
