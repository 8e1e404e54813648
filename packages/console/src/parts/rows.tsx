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
  /** The rows. Each key must be unique. */
  rows: { key: string; cells: ReactNode[] }[];
  /** The indexes of columns with numbers, which are aligned at the end. */
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
