import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

// One CommonJS file with all that it needs but `vscode`, which the editor gives.
export default defineConfig({
  resolve: { alias: { '@gatehouse/client': fileURLToPath(new URL('../typescript/src/index.ts', import.meta.url)) } },
  ssr: { noExternal: true, external: ['vscode'] },
  build: {
    ssr: 'src/extension.ts',
    outDir: 'dist',
    target: 'node18',
    minify: false,
    rollupOptions: { external: ['vscode'], output: { format: 'cjs', entryFileNames: 'extension.cjs', codeSplitting: false } },
  },
});
