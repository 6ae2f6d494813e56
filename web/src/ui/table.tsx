// A table that is a list of cards where there is no room for columns. The roles are said because some browsers
// forget them when a table is laid out otherwise.
import type { ComponentChildren } from "preact";

export interface Column<T> {
  title: string;
  cell: (row: T) => ComponentChildren;
  align?: "right";
  wide?: boolean; // takes what room there is
  main?: boolean; // the head of the card
  bare?: boolean; // needs no title on a card
  last?: boolean; // at the end of the card
}

export function Table<T>({
  label,
  columns,
  rows,
  keyOf,
  rowClass,
}: {
  label: string;
  columns: Column<T>[];
  rows: T[];
  keyOf: (row: T) => string;
  rowClass?: (row: T) => string;
}) {
  const classOf = (column: Column<T>) =>
    [
      column.align === "right" && "right",
      column.wide && "wide",
      column.main && "lead",
      column.bare && "bare",
      column.last && "last",
    ]
      .filter(Boolean)
      .join(" ");
  return (
    <div class="table-box">
      <table class="table" role="table" aria-label={label}>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <th key={column.title} role="columnheader" scope="col" class={classOf(column)}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr key={keyOf(row)} role="row" class={rowClass?.(row)}>
              {columns.map((column) => (
                <td key={column.title} role="cell" class={classOf(column)} data-label={column.title}>
                  {column.wide ? <div class="fill">{column.cell(row)}</div> : column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
