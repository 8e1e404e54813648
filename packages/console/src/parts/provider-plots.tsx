import type { components } from '../api/schema.js';
import { formatPercent, formatRupiah, formatSeconds } from '../format.js';
import { t } from '../text/text.js';
import { Lines, Plots, StackedBars } from './plots.js';

export type Step = components['schemas']['ProviderStep'];

/**
 * Colours that can be distinguished in light and dark mode. The legend contains the names of the
 * series.
 */
const palette = ['teal', 'orange', 'blue', 'grape', 'red', 'lime', 'cyan', 'pink'].map(
  (name) => `light-dark(var(--mantine-color-${name}-7), var(--mantine-color-${name}-4))`,
);
const colourAt = (place: number) => palette[place % palette.length] ?? 'gray';

export interface PlottedSeller {
  seller: string;
  steps: Step[];
}

/** Plots of the success rate, the response time and the float of several providers. */
export function ProviderPlots({ of, labels }: { of: PlottedSeller[]; labels: string[] }): React.ReactElement {
  const lines = (value: (step: Step) => number | null) =>
    of.map(({ seller, steps }, place) => ({
      name: seller,
      colour: colourAt(place),
      values: steps.map(value),
    }));
  const inSeconds = (ms: number | null) => (ms === null ? null : ms / 1_000);
  return (
    <Plots>
      <Lines
        title={t('providerSuccessPlot')}
        labels={labels}
        format={formatPercent}
        top={1}
        series={lines((step) => step.success_rate)}
      />
      <Lines
        title={t('floatPlot')}
        labels={labels}
        format={formatRupiah}
        series={lines((step) => step.float)}
      />
      <Lines
        title={t('providerMedianPlot')}
        labels={labels}
        format={formatSeconds}
        series={lines((step) => inSeconds(step.p50_ms))}
      />
      <Lines
        title={t('providerP95Plot')}
        labels={labels}
        format={formatSeconds}
        series={lines((step) => inSeconds(step.p95_ms))}
      />
    </Plots>
  );
}

/** A plot of the orders to one provider, divided by result. */
export function OrdersPlot({ steps, labels }: { steps: Step[]; labels: string[] }): React.ReactElement {
  return (
    <StackedBars
      title={t('ordersPlot')}
      labels={labels}
      format={String}
      series={[
        { name: t('sold'), colour: colourAt(0), values: steps.map((step) => step.sold) },
        { name: t('refused'), colour: colourAt(1), values: steps.map((step) => step.failed) },
        { name: t('unanswered'), colour: colourAt(4), values: steps.map((step) => step.unanswered) },
      ]}
    />
  );
}
