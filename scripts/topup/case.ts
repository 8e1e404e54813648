import { Option, type Command } from 'commander';
import { defineCommand, defineGroup } from './define-command.js';
import { listText, time, type Column } from './format.js';
import { limitOption, reasonOption } from './options.js';

/** `topup case …`: cases that need an operator's decision. */
export function registerCase(program: Command): void {
  const group = defineGroup(program, 'case', 'Cases that need a decision by a person');
  registerList(group);
  registerResolve(group);
}

function registerList(group: Command): void {
  defineCommand<{ resolved?: boolean; limit: number }>(group, {
    usage: 'list',
    action: 'purchase.look',
    summary: 'List open cases, newest first',
    details:
      'contradicting-answer    a provider said later the opposite of what the transaction became\nrepeated-serial-number  one serial number came for two orders\nreversal                a provider took back a sale\nunmatched-payment       money came for which no deposit waits (see topup payments list)\n\nPurchases under review are no cases: topup review list.\ntopup transaction show tells the story of each.',
    examples: ['case list', 'case list --resolved --limit 20'],
    options: [new Option('--resolved', 'the resolved ones instead'), limitOption()],
    async run({ options }) {
      const { listCases } = await import('../../src/purchases/review/cases.js');
      const found = await listCases({ open: !options.resolved, limit: options.limit });
      const data = found.map((each) => ({
        id: each._id,
        kind: each.kind,
        transaction_id: each.transactionId,
        payment_id: each.paymentId ?? null,
        detail: each.detail,
        created_at: each.createdAt,
        resolved_at: each.resolvedAt,
      }));
      const columns: Column<(typeof data)[number]>[] = [
        'id',
        'kind',
        ['about', (each) => each.transaction_id ?? `payment ${each.payment_id ?? ''}`],
        ['since', (each) => time(each.created_at)],
        ['what', (each) => each.detail],
      ];
      return { data, text: listText(data, { columns, empty: 'No case.' }) };
    },
  });
}

function registerResolve(group: Command): void {
  defineCommand(group, {
    usage: 'resolve <id>',
    action: 'case.resolve',
    summary: 'Close a case that has been dealt with',
    details: 'Moves no money. Say in the reason what was found and done; it stays in the audit log.',
    examples: ['case resolve 01a1fdf0 --reason "provider confirmed by mail: not executed, refund stands"'],
    options: [reasonOption()],
    async run({ arg, by }) {
      const { resolveCase } = await import('../../src/purchases/review/cases.js');
      const { resolved, changed } = await resolveCase(arg('id'), by);
      return {
        data: { id: resolved._id, kind: resolved.kind, resolved_at: resolved.resolvedAt, changed },
        text: changed ? 'Resolved.' : `Nothing changed: it was resolved at ${time(resolved.resolvedAt)}.`,
      };
    },
  });
}
