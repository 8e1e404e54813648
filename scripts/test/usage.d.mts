export const usage: string;
export function defaultJobs(): number;
