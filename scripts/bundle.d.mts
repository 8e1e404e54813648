export function bundle(
  root: string,
  options: {
    entryPoints: string[];
    outdir: string;
    /** File extension of the output; default `.js`. */
    extension?: string;
    /** Puts code shared by several entry points into separate files. */
    splitting?: boolean;
  },
): Promise<Record<string, { imports: { path: string }[] }>>;
