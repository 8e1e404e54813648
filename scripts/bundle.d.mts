export function bundle(
  root: string,
  options: {
    entryPoints: string[];
    outdir: string;
    /** Of the files that come out; `.js` by default. */
    extension?: string;
    /** What several entry points share goes into files of its own. */
    splitting?: boolean;
  },
): Promise<Record<string, { imports: { path: string }[] }>>;
