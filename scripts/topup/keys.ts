import type { Command } from 'commander';
import { defineCommand, defineGroup } from './define-command.js';
import { table } from './format.js';

/** `topup keys reencrypt`: seals stored secrets with the current key. */
export function registerKeys(program: Command): void {
  const keys = defineGroup(program, 'keys', 'Encryption keys of stored secrets');
  defineCommand(keys, {
    usage: 'reencrypt',
    summary: 'Re-encrypt every stored secret with the first key of ENCRYPTION_KEYS',
    details:
      'Run it when every process has that key first (docs/guides/operate/change-the-encryption-key.md). It works in batches\nwhile the service runs, and skips secrets that change in the meantime. You can stop it and run it again. Exit code 1\nwhile a secret remains under another key.',
    examples: ['keys reencrypt', 'keys reencrypt --json'],
    action: 'encryption-key.change',
    async run({ by }) {
      const [{ reencrypt, countSealed, sumForKey }, { sealedSources }, { getSealingKey }, { recordAudit }] =
        await Promise.all([
          import('../../src/sealed-values.js'),
          import('../../src/sealed-values.js'),
          import('../../src/shared/encryption.js'),
          import('../../src/audit/record-audit.js'),
        ]);
      const { changed, unreadable } = await reencrypt(sealedSources, showProgress, showUnreadable);
      const places = await countSealed(sealedSources);
      const key = getSealingKey().id;
      const values = Object.fromEntries(Object.keys(places).map((id) => [id, sumForKey(places, id)]));
      const remaining = Object.entries(values).reduce((sum, [id, n]) => (id === key ? sum : sum + n), 0);
      await recordAudit(null, {
        ...by,
        action: 'keys.reencrypt',
        subject: { kind: 'encryption-key', id: key },
        after: { changed, values },
      });
      return {
        data: { key, changed, unreadable, remaining, values, places },
        failed: remaining > 0,
        text: [
          `${changed.toLocaleString('en')} secrets re-encrypted with the key ${key}.`,
          table(
            ['key', 'secrets under it'],
            Object.entries(values).map(([id, n]) => [id, n.toLocaleString('en')]),
          ),
          ...(unreadable > 0
            ? [
                `${unreadable} secrets cannot be decrypted with any configured key. They are listed above. Add the key that encrypted them.`,
              ]
            : []),
          remaining > 0
            ? 'Some secrets are under other keys. Make sure that every process has this key first, then run this again.'
            : 'No secret needs the other keys, so you can remove them.',
        ].join('\n'),
      };
    },
  });
}

function showProgress(source: string, done: number): void {
  process.stderr.write(`${source}: ${done.toLocaleString('en')} checked\n`);
}

function showUnreadable(place: string, id: string): void {
  process.stderr.write(`${place} of ${id} cannot be decrypted\n`);
}
