// Exports of @baton/kits/reminders.
export { reminderTools } from './reminder-tools.ts'
export type { ReminderToolsOptions } from './reminder-tools.ts'
