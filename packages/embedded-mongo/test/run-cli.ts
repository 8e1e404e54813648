// Runs the command line from its sources, so that tests need no build.
import { main } from '../src/cli.js';

await main(process.argv.slice(2));
