import { Box, Group, SimpleGrid, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { t } from '../text/text.js';

/** A plot. A table contains the same data, for screen readers and for exact values. */
interface PlotData {
  title: string;
  /** The labels of the positions on the axis. */
  labels: string[];
  series: { name: string; colour: string; values: (number | null)[] }[];
  format: (value: number) => string;
  /** The upper end of the scale, such as 1 for a share. The default is the largest value. */
  top?: number;
  note?: ReactNode;
}

const height = 100;
/** The width of one position on the axis, in units of the view box. */
const step = 10;

/** A stacked bar for each position. Its parts are the counts of the series. */
export function StackedBars(plot: PlotData): React.ReactElement {
  const totals = plot.labels.map((_, place) => sumAt(plot, place));
  const top = Math.max(1, ...totals);
  return (
    <Plot {...plot} top={top}>
      {plot.labels.map((label, place) => {
        let from = height;
        return (
          <g key={label}>
            <title>{`${label}: ${valuesAt(plot, place)}`}</title>
            {plot.series.map(({ name, colour, values }) => {
              const length = ((values[place] ?? 0) / top) * height;
              from -= length;
              return (
                <rect
                  key={name}
                  x={place * step + 1}
                  width={step - 2}
                  y={from}
                  height={length}
                  style={{ fill: colour }}
                />
              );
            })}
          </g>
        );
      })}
    </Plot>
  );
}

/** A line for each series. A missing value leaves a gap in the line. */
export function Lines(plot: PlotData): React.ReactElement {
  const { top = Math.max(...plot.series.flatMap(({ values }) => values.map((each) => each ?? 0))) || 1 } =
    plot;
  const at = (value: number) => height - (value / top) * height;
  return (
    <Plot {...plot} top={top}>
      {plot.series.map(({ name, colour, values }) => (
        <g key={name} style={{ stroke: colour, fill: 'none' }}>
          <title>{name}</title>
          <path
            d={values
              .map((value, place) => {
                const begins = place === 0 || values[place - 1] === null;
                return value === null ? '' : `${begins ? 'M' : 'L'}${(place + 0.5) * step} ${at(value)}`;
              })
              .join(' ')}
            strokeWidth={2}
            vectorEffect="non-scaling-stroke"
          />
          {values.map(
            (value, place) =>
              value !== null && (
                // Each dot is a line of length zero with round caps. Unlike a circle, it keeps its
                // shape if the plot is stretched.
                <path
                  key={plot.labels[place]}
                  d={`M${(place + 0.5) * step} ${at(value)} h0`}
                  strokeWidth={5}
                  strokeLinecap="round"
                  vectorEffect="non-scaling-stroke"
                />
              ),
          )}
        </g>
      ))}
    </Plot>
  );
}

function Plot(plot: PlotData & { top: number; children: ReactNode }): React.ReactElement {
  const { title, labels, series, format, note, top, children } = plot;
  const ends = [labels[0], labels[Math.floor(labels.length / 2)], labels.at(-1)];
  return (
    <Box component="figure" m={0} aria-label={title}>
      <Text component="figcaption" fw={600} size="sm">
        {title}
      </Text>
      <Group gap="md" my={4}>
        {series.map(({ name, colour }) => (
          <Group key={name} gap={6}>
            <Box w={10} h={10} style={{ background: colour }} aria-hidden />
            <Text size="xs">{name}</Text>
          </Group>
        ))}
      </Group>
      <Text size="xs" c="dimmed">
        {format(top)}
      </Text>
      <svg
        role="img"
        aria-label={title}
        viewBox={`0 0 ${labels.length * step} ${height}`}
        preserveAspectRatio="none"
        width="100%"
        height={140}
        style={{
          display: 'block',
          borderBottom: '1px solid var(--mantine-color-default-border)',
          borderTop: '1px dashed var(--mantine-color-default-border)',
          overflow: 'visible',
        }}
      >
        {children}
      </svg>
      <Group justify="space-between" wrap="nowrap">
        {ends.map((label, place) => (
          <Text key={`${label} ${place}`} size="xs" c="dimmed">
            {label}
          </Text>
        ))}
      </Group>
      {note}
      <details>
        <Text component="summary" size="xs" style={{ cursor: 'pointer' }}>
          {t('asTable')}
        </Text>
        <Table.ScrollContainer minWidth={300} mah={300} tabIndex={0}>
          <Table fz="xs" aria-label={title}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t('time')}</Table.Th>
                {series.map(({ name }) => (
                  <Table.Th key={name} ta="end">
                    {name}
                  </Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {labels.map((label, place) => (
                <Table.Tr key={label}>
                  <Table.Td>{label}</Table.Td>
                  {series.map(({ name, values }) => (
                    <Table.Td key={name} ta="end" style={{ fontVariantNumeric: 'tabular-nums' }}>
                      {formatValue(values[place] ?? null, format)}
                    </Table.Td>
                  ))}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      </details>
    </Box>
  );
}

export function Plots({ children }: { children: ReactNode }): React.ReactElement {
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="xl" verticalSpacing="xl" my="md">
      {children}
    </SimpleGrid>
  );
}

function sumAt({ series }: PlotData, place: number): number {
  return series.reduce((sum, { values }) => sum + (values[place] ?? 0), 0);
}

function valuesAt({ series, format }: PlotData, place: number): string {
  return series.map(({ name, values }) => `${name} ${formatValue(values[place] ?? null, format)}`).join(', ');
}

function formatValue(value: number | null, format: (value: number) => string): string {
  return value === null ? '–' : format(value);
}
