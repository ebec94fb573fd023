// The issue solver as a page: the chat of examples/chat-web with this agent, and GitHub or a local replacement.
import type { Model } from '@baton/host'
import type { FakeGithub } from '@baton/testing/fake-github'
import { startFakeGithub } from '@baton/testing/fake-github'
import type { IssueReference } from '@baton/kits/github'
import { startChat } from '../chat-web/server.ts'
import type { Services } from './agent.ts'
import { createSolver } from './agent.ts'
import { createScriptedSolver } from './scripted-solver.ts'

export interface SolverOptions {
  /** A GitHub token; without one a local GitHub is started. */
  readonly token?: string
  readonly issue?: IssueReference
  /** Played by a script by default. */
  readonly model?: string | Model
  /** Models that a page may choose for a turn. */
  readonly models?: readonly string[]
  readonly port?: number
  readonly pageProgram?: string
}

const SAMPLE: IssueReference = { owner: 'acme', repo: 'shop', issueNumber: 1 }
const SAMPLE_TOKEN = 'token-of-the-local-github'

export async function startSolver({ token, issue = SAMPLE, model, models = [], ...options }: SolverOptions = {}) {
  const github: FakeGithub | undefined = token === undefined ? await startSample() : undefined
  const solver = createSolver({
    model: model ?? createScriptedSolver(issue),
    ...(github && { server: github.url }),
  })
  const services: Services = {
    // This page has no logins: every visitor is `anonymous`.
    tokens: new Map([['anonymous', token ?? SAMPLE_TOKEN]]),
    issueOf: () => issue,
  }
  const allow = { models, temperature: true, maxOutputTokens: 4000 }
  const chat = await startChat(solver.agent, { services, allow, ...options })
  const stop = async (): Promise<void> => {
    await chat.stop()
    await solver.close()
    await github?.close()
  }
  return { ...chat, github, stop }
}

function startSample(): Promise<FakeGithub> {
  return startFakeGithub({
    tokens: { [SAMPLE_TOKEN]: { login: 'you' } },
    repositories: [
      {
        owner: 'acme',
        name: 'shop',
        issues: [
          {
            title: 'The cart forgets its items',
            body: 'After a reload the cart is empty. It should keep its items for a day.',
            author: 'customer',
            labels: ['bug'],
          },
        ],
        files: { 'README.md': '# The shop\n', 'src/cart.ts': 'export const items: string[] = []\n' },
      },
    ],
  })
}
