import '@mantine/core/styles.css';
import {
  Alert,
  createTheme,
  defaultVariantColorsResolver,
  MantineProvider,
  type CSSVariablesResolver,
  type VariantColorsResolver,
} from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import { isRefusal } from './api/unwrap-data.js';
import { language } from './text/text.js';

const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';
// The scroll lock of an open menu adds a style element. It reads the nonce for that element from
// this global variable.
Object.assign(globalThis, { __webpack_nonce__: nonce });
document.documentElement.lang = language;

/** A filled button keeps its colour on hover, so that its contrast remains sufficient. */
const variantColors: VariantColorsResolver = (input) => {
  const colors = defaultVariantColorsResolver(input);
  return input.variant === 'filled' ? { ...colors, hover: colors.background } : colors;
};

const theme = createTheme({
  variantColorResolver: variantColors,
  primaryColor: 'teal',
  primaryShade: { light: 9, dark: 4 },
  autoContrast: true,
  luminanceThreshold: 0.35,
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  components: { Alert: Alert.extend({ styles: { title: { color: 'var(--mantine-color-text)' } } }) },
});

/** Dimmed text has a contrast of at least 4.5 to 1 on every background. */
const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': 'var(--mantine-color-gray-7)',
    '--mantine-color-error': 'var(--mantine-color-red-9)',
    '--mantine-color-placeholder': 'var(--mantine-color-gray-7)',
  },
  dark: {
    '--mantine-color-dimmed': 'var(--mantine-color-dark-1)',
    '--mantine-color-error': 'var(--mantine-color-red-3)',
    '--mantine-color-placeholder': 'var(--mantine-color-dark-1)',
  },
});

export const queryClient = new QueryClient({
  defaultOptions: {
    // A request that the service has refused is not retried. A request without a response is
    // retried once.
    queries: { retry: (count, error) => count < 1 && !isRefusal(error), refetchOnWindowFocus: true },
    mutations: { retry: false },
  },
});

/** Renders the operator console or the account portal into the page. */
export function render(app: ReactNode): void {
  const root = document.getElementById('root');
  if (root) {
    createRoot(root).render(
      <StrictMode>
        <MantineProvider
          theme={theme}
          defaultColorScheme="auto"
          cssVariablesResolver={cssVariables}
          getStyleNonce={() => nonce}
        >
          <QueryClientProvider client={queryClient}>{app}</QueryClientProvider>
        </MantineProvider>
      </StrictMode>,
    );
  }
}
