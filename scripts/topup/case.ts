import { Option, type Command } from 'commander';
import { defineCommand, defineGroup } from './define-command.js';
import { listText, time, type Column } from './format.js';
import { limitOption, reasonOption } from './options.js';

/** `topup case …`: cases that need an operator's decision. */
export function registerCase(program: Command): void {
  const group = defineGroup(program, 'case', 'Cases that need a decision by an operator');
  registerList(group);
  registerResolve(group);
}

function aboutOf(each: {
  transaction_id: string | null;
  payment_id: string | null;
  bank_line_id: string | null;
}): string {
  return each.bank_line_id === null
    ? (each.transaction_id ?? `payment ${each.payment_id ?? ''}`)
    : `bank line ${each.bank_line_id}`;
}

function registerList(group: Command): void {
  defineCommand<{ resolved?: boolean; limit: number }>(group, {
    usage: 'list',
    action: 'purchase.look',
    summary: 'List open cases, newest first',
    details:
      'contradicting-answer    a later response of a provider contradicts the final status of the transaction\nrepeated-serial-number  two orders got the same serial number\nreversal                a provider may have reversed a sale\nunmatched-payment       a payment arrived that matches no pending deposit (see topup payments list)\npayment-taken-back      the bank took back a payment that had credited a deposit\n\nPurchases under review are not cases: topup review list.\ntopup transaction show prints the history of each.',
    examples: ['case list', 'case list --resolved --limit 20'],
    options: [new Option('--resolved', 'list resolved cases instead'), limitOption()],
    async run({ options }) {
      const { listCases } = await import('../../src/purchases/review/cases.js');
      const found = await listCases({ open: !options.resolved, limit: options.limit });
      const data = found.map((each) => ({
        id: each._id,
        kind: each.kind,
        transaction_id: each.transactionId,
        payment_id: each.paymentId ?? null,
        bank_line_id: each.bankLineId ?? null,
        detail: each.detail,
        created_at: each.createdAt,
        resolved_at: each.resolvedAt,
      }));
      const columns: Column<(typeof data)[number]>[] = [
        'id',
        'kind',
        ['about', aboutOf],
        ['since', (each) => time(each.created_at)],
        ['what', (each) => each.detail],
      ];
      return { data, text: listText(data, { columns, empty: 'There are no cases.' }) };
    },
  });
}

function registerResolve(group: Command): void {
  defineCommand(group, {
    usage: 'resolve <id>',
    action: 'case.resolve',
    summary: 'Resolve a case',
    details: 'This moves no money. Give what you found and did as the reason; the audit log keeps it.',
    examples: ['case resolve 01a1fdf0 --reason "provider confirmed by mail: not executed, refund stands"'],
    options: [reasonOption()],
    async run({ arg, by }) {
      const { resolveCase } = await import('../../src/purchases/review/cases.js');
      const { resolved, changed } = await resolveCase(arg('id'), by);
      return {
        data: { id: resolved._id, kind: resolved.kind, resolved_at: resolved.resolvedAt, changed },
        text: changed ? 'Resolved.' : `Nothing changed: already resolved at ${time(resolved.resolvedAt)}.`,
      };
    },
  });
}
