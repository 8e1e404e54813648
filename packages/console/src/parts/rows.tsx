import { Table } from '@mantine/core';
import type { ReactNode } from 'react';

/** A table that scrolls horizontally on a narrow screen. */
export function Rows({
  label,
  heads,
  rows,
  ends = [],
  minWidth = 520,
}: {
  label: string;
  heads: string[];
  /** Each with a unique key. */
  rows: { key: string; cells: ReactNode[] }[];
  /** Indexes of the columns that are aligned at the end, for numbers. */
  ends?: number[];
  minWidth?: number;
}): React.ReactElement {
  return (
    <Table.ScrollContainer minWidth={minWidth} tabIndex={0} type="native">
      <Table fz="sm" aria-label={label}>
        <Table.Thead>
          <Table.Tr>
            {heads.map((head, place) => (
              <Table.Th key={head} ta={ends.includes(place) ? 'end' : 'start'}>
                {head}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody style={{ fontVariantNumeric: 'tabular-nums' }}>
          {rows.map(({ key, cells }) => (
            <Table.Tr key={key}>
              {cells.map((cell, place) => (
                <Table.Td
                  key={heads[place]}
                  ta={ends.includes(place) ? 'end' : 'start'}
                  style={ends.includes(place) ? { whiteSpace: 'nowrap' } : { overflowWrap: 'anywhere' }}
                >
                  {cell}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
