import { Anchor, Button, Checkbox, NativeSelect, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useSearchParams } from 'react-router';
import { api } from '../api/client.js';
import { unwrapData } from '../api/unwrap-data.js';
import type { components } from '../api/schema.js';
import { formatCount, formatRupiah } from '../format.js';
import { ActionForm } from '../parts/action-form.js';
import { Facts } from '../parts/facts.js';
import { FilePreview, type Previewed } from '../parts/file-preview.js';
import { Older } from '../parts/list-filter.js';
import { Rows } from '../parts/rows.js';
import { Section } from '../parts/section.js';
import { EmptyState, Time, LoadingState } from '../parts/states.js';
import { useMay } from '../session.js';
import { t } from '../text/text.js';
import { Margin } from './products-page.js';

type Plan = components['schemas']['PriceImportPlan'];
type Change = Plan['changes'][number];
type Figures = Change['before'];
type PriceImport = components['schemas']['PriceImport'];

type UndoResult = components['schemas']['UndoPriceImportData'];

/** Previews, applies and undoes price lists. */
export function PriceImportsPage(): React.ReactElement {
  const [params] = useSearchParams();
  const maySet = useMay('product.set');
  const maySee = useMay('price-import.look');
  const query = Object.fromEntries(params) as { after?: string };
  const page = useQuery({
    queryKey: ['price-imports', query],
    queryFn: () => unwrapData(api.GET('/price-imports', { params: { query } })),
  });
  const undoable =
    page.data?.imports.filter(({ status, undone }) => status !== 'undone' || (undone?.kept ?? 0) > 0) ?? [];
  return (
    <>
      <Title order={1} size="h3" mb="md">
        {t('priceImports')}
      </Title>
      {maySee && <Preview />}
      <Section title={t('imported')}>
        {!page.data && <LoadingState error={page.error} retry={page.refetch} />}
        {page.data?.imports.length === 0 && <EmptyState>{t('noImport')}</EmptyState>}
        {page.data && page.data.imports.length > 0 && <Imports of={page.data.imports} />}
        {page.data && <Older next={page.data.next} lookedBackTo={null} />}
      </Section>
      {maySet && undoable.length > 0 && <Undo of={undoable} />}
      <Changes />
    </>
  );
}

/** Changes of offers since yesterday, by imports and by operators. */
function Changes(): React.ReactElement {
  const [before, setBefore] = useState<string>();
  const page = useQuery({
    queryKey: ['price-changes', before],
    queryFn: () =>
      unwrapData(api.GET('/price-changes', { params: { query: before === undefined ? {} : { before } } })),
  });
  return (
    <Section title={t('changedSinceYesterday')}>
      {!page.data && <LoadingState error={page.error} retry={page.refetch} />}
      {page.data?.changes.length === 0 && <EmptyState>{t('nothingChanged')}</EmptyState>}
      {page.data && page.data.changes.length > 0 && (
        <Rows
          label={t('changedSinceYesterday')}
          heads={[t('time'), t('product'), t('seller'), t('price'), t('cost'), t('status'), t('who')]}
          ends={[3, 4]}
          minWidth={760}
          rows={page.data.changes.map((each) => ({
            key: `${each.at} ${each.code} ${each.seller}`,
            cells: [
              <Time at={each.at} />,
              <Anchor component={Link} to={`/products/${each.code}`} size="sm">
                {each.code}
              </Anchor>,
              each.seller,
              fromTo(each, 'price'),
              fromTo(each, 'cost'),
              each.is.status === null ? '' : t(`sold_${each.is.status}`),
              each.actor,
            ],
          }))}
        />
      )}
      {page.data?.next && (
        <Button my="md" variant="default" onClick={() => setBefore(page.data.next ?? undefined)}>
          {t('next')}
        </Button>
      )}
    </Section>
  );
}

type OfferChange = components['schemas']['OfferChange'];

function fromTo({ was, is }: OfferChange, field: 'price' | 'cost'): string {
  const to = is[field];
  const from = was[field];
  return to === null ? '' : from === null ? formatRupiah(to) : `${formatRupiah(from)} → ${formatRupiah(to)}`;
}

function Preview(): React.ReactElement {
  const maySet = useMay('product.set');
  return (
    <FilePreview
      title={t('previewImport')}
      what={t('previewImportHelp')}
      label={t('priceFile')}
      accept=".csv,.xlsx,text/csv"
      preview={(file) => unwrapData(api.POST('/price-imports/preview', { body: { file } }))}
    >
      {(previewed) => (
        <>
          <PlanShown of={previewed.plan} />
          {maySet && previewed.plan.found > 0 && <Apply key={previewed.plan.fingerprint} {...previewed} />}
        </>
      )}
    </FilePreview>
  );
}

function PlanShown({ of }: { of: Plan }): React.ReactElement {
  return (
    <>
      <Facts
        of={[
          [t('lines'), formatCount(of.lines)],
          [t('offersChanged'), formatCount(of.found)],
          [t('losing'), of.losing === 0 ? null : formatCount(of.losing)],
          [t('falling'), of.falling === 0 ? null : formatCount(of.falling)],
          [t('rising'), of.rising === 0 ? null : formatCount(of.rising)],
          [t('unchanged'), formatCount(of.unchanged)],
          [t('refusedLines'), formatCount(of.refused_found)],
        ]}
      />
      {of.changes.length > 0 && (
        <Rows
          label={t('offersChanged')}
          heads={[
            t('line'),
            t('product'),
            t('seller'),
            t('price'),
            t('cost'),
            t('status'),
            t('sellerMargin'),
          ]}
          ends={[0, 3, 4, 6]}
          minWidth={760}
          rows={of.changes.map((each) => ({ key: String(each.line), cells: cellsOf(each) }))}
        />
      )}
      {of.found > of.changes.length && (
        <EmptyState>{t('firstOnly', { shown: of.changes.length })}</EmptyState>
      )}
      {of.refused.length > 0 && (
        <Rows
          label={t('refusedLines')}
          heads={[t('line'), t('whyRefused')]}
          rows={of.refused.map(({ line, why }) => ({
            key: String(line),
            cells: [line, t(`line_${why}`)],
          }))}
        />
      )}
    </>
  );
}

function cellsOf({
  line,
  code,
  seller,
  before,
  after,
  margin,
  loses,
  falls,
  rises,
}: Change): React.ReactNode[] {
  const change = (field: keyof Figures) =>
    before[field] === after[field] ? '' : `${formatCell(before[field])} → ${formatCell(after[field])}`;
  return [
    line,
    code,
    seller,
    change('price'),
    change('cost'),
    before.status === after.status ? '' : `${t(`sold_${before.status}`)} → ${t(`sold_${after.status}`)}`,
    <>
      <Margin of={margin} />{' '}
      {[loses && t('loses'), falls && t('falls'), rises && t('rises')].filter(Boolean).join(', ')}
    </>,
  ];
}

function formatCell(value: number | string | null): string {
  return typeof value === 'number' ? formatRupiah(value) : '–';
}

function Apply({ name, content, plan }: Previewed<Plan>): React.ReactElement {
  const [meant, setMeant] = useState(false);
  return (
    <Stack maw={640} mt="sm">
      <ActionForm
        title={t('applyImport')}
        consequence={t('applyImportHelp', { found: plan.found, refused: plan.refused_found })}
        run={(reason) =>
          unwrapData(
            api.POST('/price-imports', {
              body: {
                file: content,
                name,
                fingerprint: plan.fingerprint,
                meant,
                reason,
              },
            }),
          )
        }
      >
        {plan.losing + plan.falling + plan.rising > 0 && (
          <Checkbox
            label={t('riskyPrices', { losing: plan.losing, falling: plan.falling, rising: plan.rising })}
            checked={meant}
            onChange={(event) => setMeant(event.currentTarget.checked)}
          />
        )}
      </ActionForm>
    </Stack>
  );
}

function Imports({ of }: { of: PriceImport[] }): React.ReactElement {
  return (
    <Rows
      label={t('imported')}
      heads={[t('made'), t('file'), t('status'), t('offersChanged'), t('actor'), t('reason')]}
      ends={[3]}
      minWidth={680}
      rows={of.map(({ id, at, file, status, planned, changed, actor, reason, undone }) => ({
        key: id,
        cells: [
          <Time at={at} />,
          file,
          undone === null
            ? t(`import_${status}`)
            : `${t('import_undone')}${undone.kept > 0 ? ` (${t('keptOffers', { kept: undone.kept })})` : ''}`,
          `${formatCount(changed)} / ${formatCount(planned)}`,
          undone === null ? actor : `${actor}, ${undone.actor}`,
          reason ?? '–',
        ],
      }))}
    />
  );
}

function Undo({ of }: { of: PriceImport[] }): React.ReactElement {
  const [chosen, setChosen] = useState('');
  const id = of.some((each) => each.id === chosen) ? chosen : (of[0]?.id ?? '');
  const [kept, setKept] = useState<UndoResult['kept']>([]);
  return (
    <Stack maw={640}>
      <ActionForm
        title={t('undoImport')}
        consequence={t('undoImportHelp')}
        danger
        run={async (reason) => {
          const done = await unwrapData(
            api.POST('/price-imports/{id}/undo', { params: { path: { id } }, body: { reason } }),
          );
          setKept(done.kept);
        }}
      >
        <NativeSelect
          label={t('priceImport')}
          value={id}
          data={of.map((each) => ({ value: each.id, label: `${each.file} (${each.id.slice(0, 12)})` }))}
          onChange={(event) => setChosen(event.currentTarget.value)}
        />
      </ActionForm>
      {kept.length > 0 && (
        <Text size="sm" role="status" style={{ overflowWrap: 'anywhere' }}>
          {t('keptSince')}{' '}
          {kept.map(({ code, fields }, place) => (
            <span key={code}>
              {place > 0 && ', '}
              <Anchor component={Link} to={`/products/${code}`} size="sm">
                {code}
              </Anchor>{' '}
              ({fields.map((field) => t(field)).join(', ')})
            </span>
          ))}
        </Text>
      )}
    </Stack>
  );
}
