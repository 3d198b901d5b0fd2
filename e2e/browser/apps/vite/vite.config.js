export default {
  // SETTINGS
};
