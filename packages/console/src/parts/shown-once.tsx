import { Alert, Code, Stack, Text } from '@mantine/core';

/** What a change has made that nobody can show again. */
export function ShownOnce({
  title,
  secrets,
  note,
}: {
  title: string;
  secrets: string[];
  /** What to do with it. */
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
