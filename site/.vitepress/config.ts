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

function isForContributors(path: string): boolean {
  return path.startsWith('decisions/') || CONTRIBUTOR_PAGES.includes(path.replace(/\.md$/, ''))
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
    search: {
      provider: 'local',
      options: {
        // People who use Baton search; pages for contributors would be in their way.
        _render: (text, env: { readonly relativePath: string }, md) =>
          isForContributors(env.relativePath) ? '' : md.render(text, env),
      },
    },
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
