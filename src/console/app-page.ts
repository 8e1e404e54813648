import { sendBuiltPage } from '../api/built-page.js';
import type { ConsoleRoute } from './console-route.js';

/** The console's single page. */
export const showApp: ConsoleRoute['handle'] = (_request, response) => sendBuiltPage(response, 'index.html');
