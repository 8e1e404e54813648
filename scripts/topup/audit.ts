import { Option, type Command } from 'commander';
import { defineCommand, defineGroup } from './define-command.js';
import { listText } from './format.js';
import { day, limitOption } from './options.js';

interface ListOptions {
  actor?: string;
  action?: string;
  kind?: string;
  subject?: string;
  from?: string;
  to?: string;
  limit: number;
}

/** `topup audit …`: the audit log. */
export function registerAudit(program: Command): void {
  const group = defineGroup(program, 'audit', 'Who changed what, when, from where and why');
  defineCommand<ListOptions>(group, {
    usage: 'list',
    action: 'audit.look',
    summary: 'List entries of the audit log, newest first',
    details:
      '--json also shows the values before and after. A filter without an index (an action, or only a kind or an id) searches\n2,000 entries.',
    examples: ['audit list --actor operator:sari', 'audit list --kind provider --subject 01a1fdf0 --json'],
    options: [
      new Option('--actor <actor>', 'such as operator:sari or account:buyer'),
      new Option('--action <action>', 'the action, or its beginning'),
      new Option('--kind <kind>', 'kind of the subject: account, transaction, provider …'),
      new Option('--subject <id>', 'id of the subject'),
      new Option('--from <day>', 'YYYY-MM-DD, business time').argParser(day),
      new Option('--to <day>', 'last day, in the same format').argParser(day),
      limitOption(),
    ],
    async run({ options }) {
      const [{ findAuditPage }, { parseDays }] = await Promise.all([
        import('../../src/audit/read-audit.js'),
        import('../../src/shared/business-time.js'),
      ]);
      const { actor, action, kind, subject, from, to, limit } = options;
      const { found, searchedBackTo } = await findAuditPage(
        {
          actor,
          action,
          subjectKind: kind,
          subjectId: subject,
          ...parseDays({ from, to }),
        },
        { limit },
      );
      const text = listText(found, {
        columns: [
          'at',
          ['who', ({ actor: who }) => who],
          ['what', ({ action: what }) => what],
          ['about', ({ subject: about }) => `${about.kind} ${about.id}`],
          ['why', ({ reason }) => reason ?? null],
        ],
        empty: 'No entry matches.',
        searchedBackTo,
      });
      return { data: found, text };
    },
  });
}
