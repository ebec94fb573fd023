// The exports of @baton/tools/github.
import type { KitTool } from '../shared/kit-tool.ts'
import { fileTools } from './file-tools.ts'
import type { GithubOptions } from './github-kit.ts'
import { openGithubKit } from './github-kit.ts'
import { issueTools } from './issue-tools.ts'
import { planTool } from './plan-tool.ts'
import { pullTools } from './pull-tools.ts'

export type { GithubOptions, IssueReference } from './github-kit.ts'

/** Events of a call of one of them have the types of its arguments and its result. */
export type GithubTool<Services = unknown> = KitTool<
  ReturnType<typeof issueTools | typeof fileTools | typeof pullTools>[number] | ReturnType<typeof planTool>,
  Services
>

/**
 * Issues, comments, labels, files, branches, pull requests and reviews on GitHub, with the token of each call's principal, and
 * `CreateImplementationPlan`. Tools that write ask a person first, unless `approval` is false.
 * @throws BatonError `invalid_option`
 */
export function githubTools<Services = unknown>(options: GithubOptions<Services>): readonly GithubTool<Services>[] {
  const kit = openGithubKit(options)
  return [...issueTools(kit), planTool(kit), ...fileTools(kit), ...pullTools(kit)]
}
