import type { Command } from 'commander';
import { defineCommand, defineGroup } from './define-command.js';
import { table } from './format.js';

/** `topup keys reencrypt`: seals stored secrets with the current key. */
export function registerKeys(program: Command): void {
  const keys = defineGroup(program, 'keys', 'The keys that stored secrets are encrypted with');
  defineCommand(keys, {
    usage: 'reencrypt',
    summary: 'Seal every stored secret with the first key of ENCRYPTION_KEYS',
    details:
      'After every process has that key first (docs/guides/operate/change-the-encryption-key.md). While the service works, a batch at a time; what\nchanges meanwhile is left to whoever changed it. Safe to break off and to run again. Exit code 1 while a secret\nremains under another key.',
    examples: ['keys reencrypt', 'keys reencrypt --json'],
    action: 'encryption-key.change',
    async run({ by }) {
      const [{ reencrypt, countSealed, sumForKey }, { sealedSources }, { sealingKey }, { recordAudit }] =
        await Promise.all([
          import('../../src/sealed-values.js'),
          import('../../src/sealed-values.js'),
          import('../../src/shared/encryption.js'),
          import('../../src/audit/record-audit.js'),
        ]);
      const { changed, unreadable } = await reencrypt(sealedSources, showProgress, showUnreadable);
      const places = await countSealed(sealedSources);
      const key = sealingKey().id;
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
          `${changed.toLocaleString('en')} secrets sealed anew with the key ${key}.`,
          table(
            ['key', 'secrets under it'],
            Object.entries(values).map(([id, n]) => [id, n.toLocaleString('en')]),
          ),
          ...(unreadable > 0
            ? [
                `${unreadable} cannot be opened by any key that is here: see above which, and add the key they need.`,
              ]
            : []),
          remaining > 0
            ? 'Not all are under it: see that every process has it first, then run this again.'
            : 'The other keys open nothing any more and can be taken out.',
        ].join('\n'),
      };
    },
  });
}

function showProgress(source: string, done: number): void {
  process.stderr.write(`${source}: ${done.toLocaleString('en')} looked at\n`);
}

function showUnreadable(place: string, id: string): void {
  process.stderr.write(`${place} of ${id} cannot be opened\n`);
}
