// The kits of @baton/tools and @baton/kits whose tools docs/tools.md lists, each opened with all its options, as a program would open
// it.
import type { Tool } from '@baton/core'
import { acpAgent } from '@baton/kits/acp-agent'
import { codingSessionTools } from '@baton/kits/coding-sessions'
import { contentTools } from '@baton/kits/content'
import { cursorAgentTools } from '@baton/kits/cursor-agents'
import { createExplorer } from '@baton/kits/explorer'
import { githubTools } from '@baton/kits/github'
import { moderationTools } from '@baton/kits/moderation'
import { reminderTools } from '@baton/kits/reminders'
import { visionTools } from '@baton/kits/vision'
import { searxngSearch, webTools } from '@baton/kits/web'
import { workspaceTools } from '@baton/tools/workspace'
import { REPOSITORY } from './source-files.ts'

export interface ToolKit {
  /** Import path, such as `@baton/tools/workspace`. */
  readonly subpath: string
  readonly title: string
  /** Its purpose, in one or two sentences. */
  readonly about: string
  /** How a program gets all of its tools. */
  readonly call: string
  /** The page about it in docs/. */
  readonly page: string
  readonly open: () => readonly Tool[]
}

export const TOOL_KITS: readonly ToolKit[] = [
  {
    subpath: '@baton/tools/workspace',
    title: 'Workspace',
    about: 'Reads, searches and changes files in one folder, and runs commands there.',
    call: "workspaceTools({ root: '.', write: true, shell: true })",
    page: 'workspace-tools.md',
    open: () => workspaceTools({ root: REPOSITORY, write: true, shell: true }),
  },
  {
    subpath: '@baton/kits/coding-sessions',
    title: 'Coding sessions',
    about: 'Reads what Claude Code, Codex, Gemini CLI and OpenCode did in this workspace, from their stored sessions.',
    call: "codingSessionTools({ root: '.' })",
    page: 'coding-sessions.md',
    open: () => codingSessionTools({ root: REPOSITORY }),
  },
  {
    subpath: '@baton/kits/github',
    title: 'GitHub',
    about: 'Issues, comments, labels, files, branches, pull requests and reviews, with the token of each principal.',
    call: 'githubTools({ token, currentIssue })',
    page: 'github.md',
    open: () => githubTools({ token: 'token' }),
  },
  {
    subpath: '@baton/kits/cursor-agents',
    title: 'Cursor agents',
    about: "Hands coding work to Cursor's cloud agents.",
    call: 'cursorAgentTools({ apiKey })',
    page: 'cursor-agents.md',
    open: () => cursorAgentTools({ apiKey: 'key' }),
  },
  {
    subpath: '@baton/kits/moderation',
    title: 'Moderation',
    about:
      'Scans text from strangers for hidden text, look-alikes, deceptive links, instructions to a model, phishing and secrets.',
    call: 'moderationTools()',
    page: 'moderation.md',
    open: () => moderationTools(),
  },
  {
    subpath: '@baton/kits/content',
    title: 'Content',
    about: 'Reads posts, comments and users of Reddit, items and users of Hacker News, and web pages.',
    call: 'contentTools()',
    page: 'content.md',
    open: () => contentTools(),
  },
  {
    subpath: '@baton/kits/web',
    title: 'Web',
    about: 'Reads pages, texts and JSON of the web, and searches it.',
    call: 'webTools({ search })',
    page: 'web.md',
    open: () => webTools({ search: searxngSearch({ server: 'https://search.example' }) }),
  },
  {
    subpath: '@baton/kits/reminders',
    title: 'Reminders',
    about: 'Sets, lists and cancels reminders of the session itself.',
    call: 'reminderTools()',
    page: 'outside.md',
    open: () => reminderTools(),
  },
  {
    subpath: '@baton/kits/vision',
    title: 'Vision',
    about: 'Judges pictures against requirements; measurable requirements are measured.',
    call: 'visionTools()',
    page: 'vision.md',
    open: () => visionTools(),
  },
  {
    subpath: '@baton/kits/explorer',
    title: 'Explorer',
    about:
      'The two tools of an agent that explores a folder, in addition to the tools that read the workspace and the coding sessions.',
    call: "createExplorer({ root: '.' })",
    page: 'workspace-explorer.md',
    open: () => createExplorer({ root: REPOSITORY }).tools.filter(({ name }) => EXPLORER_TOOLS.has(name)),
  },
  {
    subpath: '@baton/kits/acp-agent',
    title: 'Other agents',
    about: 'Hands a task to another agent, such as OpenCode, Gemini CLI or another Baton agent.',
    call: "acpAgent({ command: 'opencode', args: ['acp'] })",
    page: 'other-agents.md',
    open: () => [acpAgent({ command: 'opencode', args: ['acp'], title: 'OpenCode' }).tool],
  },
]

/** The explorer's other tools belong to the two kits above. */
const EXPLORER_TOOLS: ReadonlySet<string> = new Set(['plan.set', 'explore.report'])
