// The site: pages of docs/ in the order of scripts/docs-pages.ts, the API reference, and a search without a server.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DefaultTheme } from 'vitepress'
import { defineConfig } from 'vitepress'
import { CONTRIBUTOR_PAGES, PAGE_GROUPS, readPage } from '../../scripts/docs-pages.ts'

const toItem = (name: string) => ({ text: readPage(name).title, link: `/${name}` })

function readApiSidebar(): DefaultTheme.SidebarItem[] {
  const file = join(import.meta.dirname, '../pages/api/typedoc-sidebar.json')
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as DefaultTheme.SidebarItem[]) : []
}

export default defineConfig({
  title: 'Baton',
  description: 'Agents whose tool calls always come home',
  srcDir: 'pages',
  outDir: 'dist',
  cacheDir: 'node_modules/.cache/vitepress',
  // A link to a page that does not exist fails the build.
  ignoreDeadLinks: false,
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Guide', link: '/getting-started' },
      { text: 'API', link: '/api/' },
    ],
    sidebar: {
      '/api/': readApiSidebar(),
      '/': [
        ...PAGE_GROUPS.map(({ title, pages }) => ({ text: title, items: pages.map(toItem) })),
        { text: 'For contributors', collapsed: true, items: CONTRIBUTOR_PAGES.map(toItem) },
      ],
    },
  },
})
