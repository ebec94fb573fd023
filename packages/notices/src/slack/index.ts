// Exports of @baton/notices/slack.
export { createSlack } from './slack.ts'
export type { Slack, SlackOptions } from './slack.ts'
export type { SlackPlace } from './slack-notices.ts'
export type { SlackUser } from './slack-people.ts'
