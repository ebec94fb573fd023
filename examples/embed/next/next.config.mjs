// Node loads Baton itself: its stores and its log are no modules for a bundler.
export default { serverExternalPackages: ['@baton/host', '@baton/server'] }
