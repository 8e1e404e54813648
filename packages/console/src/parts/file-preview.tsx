import { FileInput, Progress, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { toBase64 } from '../api/to-base64.js';
import { formatCount } from '../format.js';
import { t } from '../text/text.js';
import { QueryForm } from './query-form.js';
import { Section } from './section.js';

/** A file that was previewed, and the changes that it would make. */
export interface Previewed<Plan> {
  name: string;
  /** The content of the file in base64. */
  content: string;
  plan: Plan;
}

/** Previews the changes that a file would make. Selecting another file clears the preview. */
export function FilePreview<Plan>({
  title,
  what,
  label,
  accept,
  preview,
  children,
  first = false,
}: {
  title: string;
  /** Explains the purpose of the file in one or two sentences. */
  what: string;
  /** Label of the file field. */
  label: string;
  accept: string;
  preview: (content: string) => Promise<Plan>;
  children: (previewed: Previewed<Plan>) => React.ReactNode;
  /** True if this is the first section of the page. */
  first?: boolean;
}): React.ReactElement {
  const [file, setFile] = useState<File | null>(null);
  const asked = useMutation({
    mutationFn: async () => {
      const sent = { name: file?.name ?? '', content: file === null ? '' : await toBase64(file) };
      return { ...sent, plan: await preview(sent.content) };
    },
  });
  return (
    <Section title={title} first={first}>
      <Text size="sm" maw={640}>
        {what}
      </Text>
      <QueryForm button={t('preview')} asked={asked}>
        <FileInput
          label={label}
          placeholder={t('chooseFile')}
          accept={accept}
          required
          clearable
          clearButtonProps={{ 'aria-label': t('reset') }}
          value={file}
          onChange={(chosen) => {
            setFile(chosen);
            asked.reset();
          }}
          w={240}
        />
      </QueryForm>
      {asked.isPending && file && <Reading file={file} />}
      {asked.data && children(asked.data)}
    </Section>
  );
}

/** Shows how long the service has been reading a file, because a long one takes some seconds. */
function Reading({ file: { name, size } }: { file: File }): React.ReactElement {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSeconds((passed) => passed + 1), 1_000);
    return () => clearInterval(timer);
  }, []);
  return (
    <>
      <Progress value={100} animated aria-label={t('preview')} maw={640} mt="sm" />
      <Text size="sm" role="status">
        {t('readingFile', { name, size: formatCount(Math.ceil(size / 1_000)), seconds })}
      </Text>
    </>
  );
}
