import { Alert, Code, Stack, Text } from '@mantine/core';

/** Secrets that cannot be shown again. */
export function ShownOnce({
  title,
  secrets,
  note,
}: {
  title: string;
  secrets: string[];
  /** What to do with them. */
  note?: string;
}): React.ReactElement | null {
  return secrets.length === 0 ? null : (
    <Alert color="orange" title={title} role="status">
      <Stack gap={4} align="flex-start">
        {note !== undefined && <Text size="sm">{note}</Text>}
        {secrets.map((each) => (
          <Code key={each} style={{ overflowWrap: 'anywhere' }}>
            {each}
          </Code>
        ))}
      </Stack>
    </Alert>
  );
}
