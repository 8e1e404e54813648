import { Button, Code, CopyButton, Group } from '@mantine/core';
import { useState } from 'react';
import { t } from '../text/text.js';

/** A masked secret, with buttons to show it and to copy it. */
export function Secret({ of, name }: { of: string; name: string }): React.ReactElement {
  const [isShown, setShown] = useState(false);
  return (
    <Group gap="xs">
      <Code style={{ overflowWrap: 'anywhere' }}>{isShown ? of : `${of.slice(0, 8)}…${of.slice(-4)}`}</Code>
      <Button
        size="xs"
        variant="default"
        aria-label={`${isShown ? t('hide') : t('show')}: ${name}`}
        onClick={() => setShown(!isShown)}
      >
        {isShown ? t('hide') : t('show')}
      </Button>
      <CopyButton value={of}>
        {({ copied, copy }) => (
          <Button size="xs" variant="default" aria-label={`${t('copy')}: ${name}`} onClick={copy}>
            {copied ? t('copied') : t('copy')}
          </Button>
        )}
      </CopyButton>
    </Group>
  );
}
