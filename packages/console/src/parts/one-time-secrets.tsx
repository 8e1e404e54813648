import { Alert, Code, Stack, Text } from '@mantine/core';

/** Shows secrets that cannot be displayed again later. */
export function OneTimeSecrets({
  title,
  secrets,
  note,
}: {
  title: string;
  secrets: string[];
  /** Tells the user what to do with the secrets. */
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
