// An agent that solves issues. It has GitHub's tools with each person's token, a tool that is an Effect, and one of the
// AI SDK.
import type { Model } from '@baton/host'
import { defineAgent } from '@baton/host'
import { fromAiSdk } from '@baton/tools/ai-sdk'
import { effectTool, fromEffect } from '@baton/tools/effect'
import type { IssueReference } from '@baton/kits/github'
import { githubTools } from '@baton/kits/github'
import { tool } from 'ai'
import * as effect from 'effect4'
import { Context, Data, Effect, Layer, Schema } from 'effect4'
import { z } from 'zod'

/** Services that the host has for all sessions. */
export interface Services {
  /** GitHub tokens by the id of the principal. */
  readonly tokens: ReadonlyMap<string, string>
  /** The issue that a session is about. */
  readonly issueOf: (session: string) => IssueReference | undefined
}

class TooManySteps extends Data.TaggedError('TooManySteps')<{ readonly message: string }> {}
class Pace extends Context.Service<Pace, { readonly hoursPerStep: number }>()('solver/Pace') {
  static readonly layer = Layer.succeed(Pace, { hoursPerStep: 2 })
}
const estimate = effectTool({
  name: 'plan.estimate',
  title: 'Estimate the plan',
  kind: 'think',
  description: 'Estimates the hours that a number of planned steps take',
  input: Schema.Struct({ steps: Schema.Int }),
  output: Schema.Struct({ hours: Schema.Number }),
  effect: 'pure',
  execute: ({ steps }) =>
    Effect.gen(function* () {
      if (steps > 20) return yield* new TooManySteps({ message: `${steps} steps are no plan` })
      const { hoursPerStep } = yield* Pace
      return { hours: steps * hoursPerStep }
    }),
})

/** As written for the AI SDK. */
const branchName = tool({
  description: 'Suggests the name of a branch for an issue',
  inputSchema: z.object({ issueNumber: z.number().int(), title: z.string() }),
  execute: ({ issueNumber, title }) =>
    `fix/${issueNumber}-${title
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .slice(0, 40)}`,
})

export function createSolver({ model, server }: { readonly model?: string | Model; readonly server?: string }) {
  const effects = fromEffect(effect, { layer: Pace.layer, tools: [estimate] })
  const github = githubTools<Services>({
    token: ({ principal, services }) => services.tokens.get(principal.id),
    currentIssue: ({ session, services }) => services.issueOf(session),
    ...(server !== undefined && { server }),
  })
  const agent = defineAgent({
    name: 'issue-solver',
    ...(model !== undefined && { model }),
    instructions: `You solve an issue of a GitHub repository together with a person.
Read the issue first. Make a plan with CreateImplementationPlan before you change anything.
Work on a branch of its own, and open a pull request at the end. Answer in a few sentences.`,
    tools: [...github, ...effects.tools, ...fromAiSdk({ 'branch.name': branchName }, { effect: 'pure' })],
  })
  return { agent, close: effects.close }
}
