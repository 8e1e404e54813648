export const usage: string;
export function defaultJobs(): number;
export const flakyMax: number;
