// Exports of @baton/kits/github.
import type { KitTool } from '@baton/tools/internal'
import { fileTools } from './file-tools.ts'
import type { GithubOptions } from './github-kit.ts'
import { openGithubKit } from './github-kit.ts'
import { issueTools } from './issue-tools.ts'
import { planTool } from './plan-tool.ts'
import { pullTools } from './pull-tools.ts'

export type { GithubOptions, IssueReference } from './github-kit.ts'

/** Call events of these tools have typed arguments and results. */
export type GithubTool<Services = unknown> = KitTool<
  ReturnType<typeof issueTools | typeof fileTools | typeof pullTools>[number] | ReturnType<typeof planTool>,
  Services
>

/**
 * Issues, comments, labels, files, branches, pull requests and reviews on GitHub, with the token of each call's
 * principal, and `CreateImplementationPlan`. Write tools ask the user first, unless `approval` is false.
 * @throws BatonError `invalid_option`
 */
export function githubTools<Services = unknown>(options: GithubOptions<Services>): readonly GithubTool<Services>[] {
  const kit = openGithubKit(options)
  return [...issueTools(kit), planTool(kit), ...fileTools(kit), ...pullTools(kit)]
}
