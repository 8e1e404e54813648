export function bundle(
  root: string,
  options: {
    entryPoints: string[] | { in: string; out: string }[];
    outdir: string;
    /** File extension of the output; default `.js`. */
    extension?: string;
    /** Default: `esm`. `cjs` builds a script whose compiled code can be cached. */
    format?: 'esm' | 'cjs';
    /** Leaves out white space and comments. */
    compact?: boolean;
  },
): Promise<Record<string, { imports: { path: string }[] }>>;
