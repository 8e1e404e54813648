import { request } from 'undici';
import { eventually } from './eventually.js';
import type { RunningProgram } from './start-program.js';

export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/**
 * The URLs found so far, by program. A program keeps only the end of its output, so the line with
 * the URL may disappear.
 */
const metricsUrls = new WeakMap<object, string>();

/** Returns the URL of the metrics server in a process that was started with METRICS_PORT=0. */
export async function getMetricsUrl(program: Pick<RunningProgram, 'output'>): Promise<string> {
  const found = metricsUrls.get(program);
  if (found !== undefined) {
    return found;
  }
  const { port } = await eventually('the process serves its metrics', () => {
    const line = program
      .output()
      .split('\n')
      .find((each) => each.includes('"metrics are served"'));
    return line === undefined ? null : (JSON.parse(line) as { port: number });
  });
  const url = `http://127.0.0.1:${port}`;
  metricsUrls.set(program, url);
  return url;
}

/** Reads /metrics, which is in the Prometheus text format. Returns the samples. */
export async function scrape(url: string): Promise<Sample[]> {
  const { statusCode, body } = await request(`${url}/metrics`);
  const text = await body.text();
  if (statusCode !== 200) {
    throw new Error(`${url}/metrics answered ${statusCode}: ${text}`);
  }
  return text.split('\n').flatMap((line) => {
    const [, name = '', labels = '', value = ''] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = '', text = '']) => [key, text]);
    return name === ''
      ? []
      : [{ name, labels: Object.fromEntries(pairs) as Sample['labels'], value: Number(value) }];
  });
}

/**
 * Returns the sum of the samples with this name and these labels. Null if there is no such sample.
 */
export function valueOf(samples: Sample[], name: string, labels: Record<string, string> = {}): number | null {
  const found = samples.filter(
    (each) => each.name === name && Object.entries(labels).every(([key, text]) => each.labels[key] === text),
  );
  return found.length === 0 ? null : found.reduce((sum, { value }) => sum + value, 0);
}
