/** What the page of webhooks says beside its lists. */
export const enWebhooks = {
  allReceivers: 'All receivers',
  allReceiversWhat: 'Every webhook and callback URL; of a page the worst first.',
  noUrl: 'No URL of any account in this part of the list.',
  nextReceivers: 'More receivers',
  firstReceivers: 'To the first receivers',
  receiver_disabled: 'disabled',
  'receiver_left-alone': 'left alone',
  receiver_failing: 'failing',
  receiver_healthy: 'healthy',
  sentHeaders: 'Headers that were sent',
  headersShortened: 'Signatures are cut short.',
  chooseDelivery: 'Choose {delivery}',
  chooseAllDeliveries: 'Choose all of this page',
  replayChosen: 'Send the chosen again',
  replayChosenWhat:
    '{count} of at most {max} in one go: each is sent now, to the URL that its account has now, and counts as new for its schedule. Receivers that have handled them already see them twice, under the same id.',
  replayedDeliveries: 'What became of them',
  isReplayed: 'is sent again',
  replayDead: 'Send again what was given up',
  replayDeadWhat:
    '{count} that fit this filter were given up. The oldest {now} are sent again now, to the URLs that their accounts have now; pings are left out.',
  replayedDead: '{replayed} are sent again; {without_url} stay as they are, because their URL was removed.',
  orMoreOf: '{count} or more',
} as const;
