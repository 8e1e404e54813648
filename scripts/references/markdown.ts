export interface Link {
  /** Line number, from 1. */
  line: number;
  /** Target as written, such as `docs/explanation/ledger.md#rules`. */
  target: string;
}

/** Returns the text of every heading without markup. */
export function headingsOf(markdown: string): string[] {
  return linesOutsideFences(markdown).flatMap(({ text }) => {
    const heading = /^#{1,6} +(.+?)(?: +#+)?$/.exec(text)?.[1];
    return heading === undefined ? [] : [removeMarkup(heading)];
  });
}

/**
 * Returns the anchors that GitHub generates for headings. The anchor of a repeated heading ends in
 * `-1`.
 */
export function anchorsOf(markdown: string): Set<string> {
  const anchors = new Set<string>();
  const timesSeen = new Map<string, number>();
  for (const heading of headingsOf(markdown)) {
    const name = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-');
    const times = timesSeen.get(name) ?? 0;
    timesSeen.set(name, times + 1);
    anchors.add(times === 0 ? name : `${name}-${times}`);
  }
  return anchors;
}

/** Returns links and images with targets inside the repository. */
export function linksOf(markdown: string): Link[] {
  return linesOutsideFences(markdown).flatMap(({ line, text }) =>
    [...removeCode(text).matchAll(/\]\(<?([^()<>\s]+)>?(?: +"[^"]*")?\)/g)].flatMap(([, target = '']) =>
      /^(?:[a-z]+:|\/\/)/i.test(target) ? [] : [{ line, target }],
    ),
  );
}

/** Returns the numbers of lines that are too wide. Tables, links and code may be wider. */
export function wideLinesOf(markdown: string, columnsMax: number): number[] {
  return linesOutsideFences(markdown)
    .filter(({ text }) => text.length > columnsMax && !/^ *\|/.test(text) && !text.includes(']('))
    .map(({ line }) => line);
}

function linesOutsideFences(markdown: string): { line: number; text: string }[] {
  let fence: string | null = null;
  return markdown.split('\n').flatMap((text, index) => {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(text)?.[1];
    if (mark !== undefined && (fence === null || mark.startsWith(fence))) {
      fence = fence === null ? mark : null;
      return [];
    }
    return fence === null ? [{ line: index + 1, text }] : [];
  });
}

function removeMarkup(heading: string): string {
  return heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[`*]/g, '');
}

/** `[0](x)` between backticks is code, not a link. */
function removeCode(text: string): string {
  return text.replace(/`[^`]*`/g, '');
}
