import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

export default defineConfig({
  base: './', // the page stands below a folder whose name only the daemon knows
  resolve: {
    alias: {
      '@gatehouse/client/browser': fileURLToPath(new URL('../clients/typescript/src/browser.ts', import.meta.url)),
    },
  },
  build: {
    target: 'es2022',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0, // no data: URLs, the content security policy has none
    emptyOutDir: true,
  },
});
