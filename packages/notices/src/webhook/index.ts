// Exports of @baton/notices/webhook.
export { webhook } from './webhook.ts'
export type { WebhookOptions } from './webhook.ts'
