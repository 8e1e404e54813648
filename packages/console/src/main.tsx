import '@mantine/spotlight/styles.css';
import { RouterProvider } from 'react-router';
import { render } from './render.js';
import { router } from './router.js';

render(<RouterProvider router={router} />);
