// SPDX-License-Identifier: Apache-2.0
// Runs before the first paint: theme, density and language of the last visit. 'auto' leaves the theme to the system.
;(function () {
  try {
    var root = document.documentElement
    var theme = localStorage.getItem('takt-theme')
    if (theme === 'light' || theme === 'dark') root.dataset.theme = theme
    if (localStorage.getItem('takt-density') === 'compact') root.dataset.density = 'compact'
    var language = localStorage.getItem('takt-language') || (/^zh/i.test(navigator.language) ? 'zh' : 'en')
    root.lang = language === 'zh' ? 'zh-Hans' : 'en'
  } catch (error) {
    // Storage may be forbidden: the defaults stand.
  }
})()
