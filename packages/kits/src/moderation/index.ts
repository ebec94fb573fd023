// Exports of @baton/kits/moderation.
export { moderationTools } from './scan-tool.ts'
export type { ModerationOptions, ModerationTool } from './scan-tool.ts'
export { scanText } from './scan.ts'
export type { Scan, Verdict } from './scan.ts'
export type { Category, Finding } from './finding.ts'
