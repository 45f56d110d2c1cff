"""The words of the synthetic news: topics in five categories, and what all of them share.

People, firms and clubs are invented. Many words belong to several categories on
purpose (record, deal, company, win, star, final, campaign, market, game, court, digital).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Topic:
    """Phrases that fit together: who, did what, the thing it is about, when or where."""

    category: str
    name: str
    actors: tuple[str, ...]
    deeds: tuple[str, ...]
    things: tuple[str, ...]
    settings: tuple[str, ...]


def _topic(category: str, name: str, *phrases: str) -> Topic:
    """A topic from four comma-separated lists: actors, deeds, things, settings."""
    actors, deeds, things, settings = (
        tuple(phrase.strip() for phrase in line.split(",")) for line in phrases
    )
    return Topic(category, name, actors, deeds, things, settings)


TOPICS: tuple[Topic, ...] = (
    _topic(
        "business",
        "company results",
        "the company, the retailer, shareholders, the chief executive, the Harwick group, the "
        "board, analysts, the carmaker",
        "reported a record profit, forecast lower sales, cut costs, missed the profit "
        "forecast, raised the dividend, backed a takeover bid, sold a loss-making unit, "
        "lifted the share price, agreed a merger deal, blamed weak sales",
        "annual profit, the takeover bid, the share price, company sales, quarterly revenue, "
        "the merger deal",
        "in the fourth quarter, after a profit warning, at the annual meeting, over the "
        "financial year, because of weak sales",
    ),
    _topic(
        "business",
        "banking and markets",
        "the central bank, investors, the bank, currency traders, economists, lenders, the "
        "stock market, Brandeck Bank",
        "raised interest rates, sold shares in the bank, expected slower growth, bought "
        "government bonds, lowered the growth forecast, feared higher inflation, lost money "
        "on the dollar, watched the market fall, cut lending to home buyers, won back "
        "investors",
        "the dollar, economic growth, inflation, interest rates, the stock market, mortgage "
        "lending",
        "in early trading, on the stock exchange, as inflation rose, despite strong growth, "
        "when the market closed",
    ),
    _topic(
        "business",
        "energy and trade",
        "the oil producer, exporters, the energy firm, the airline, refineries, importers, "
        "the trade body, the shipping company",
        "raised oil output, signed an export deal, paid more for fuel, bought cheap imports, "
        "halted gas supplies, sold a stake in the oil field, doubled exports, won a pipeline "
        "contract, lost a trade dispute, passed on fuel prices",
        "the oil price, the trade deficit, fuel prices, the export market, crude oil, the "
        "pipeline deal",
        "as demand for oil grew, in world markets, because of high fuel costs, under the "
        "trade deal, at the port of Saltham",
    ),
    _topic(
        "business",
        "jobs and industry",
        "the manufacturer, the union, workers, the employer, factory owners, the steel firm, "
        "managers, the company",
        "closed the factory, cut two hundred jobs, rejected a pay deal, opened a steel plant, "
        "went on strike, hired more staff, moved production abroad, saved the pension scheme, "
        "won a pay rise, feared job losses",
        "the pay deal, the steel plant, factory output, the pension scheme, the job market, "
        "unemployment",
        "after talks with the union, in the industrial north, during the strike, as "
        "unemployment fell, to save jobs",
    ),
    _topic(
        "entertainment",
        "film",
        "the director, the film, the studio, the leading actor, the actress, Mara Ellwood, "
        "film critics, the producers",
        "won the best film award, praised the actor, made a sequel, topped the box office, "
        "turned down the leading role, won an award nomination, drew a record audience, "
        "opened the film festival, released the film early, shot the final scene",
        "the film, the box office, the leading role, the award ceremony, the sequel, the film "
        "festival",
        "at the award ceremony, at the film festival, in cinemas, on the red carpet, on its "
        "opening weekend",
    ),
    _topic(
        "entertainment",
        "music",
        "the singer, the band, the rock group, fans, the record label, Dario Quill, the "
        "songwriter, the pop star",
        "released a debut album, topped the singles chart, signed a record deal, sang the hit "
        "song, announced a world tour, won the music award, played a charity concert, sold "
        "out the tour, wrote new songs, recorded a live album",
        "the album, the singles chart, the song, the tour, pop music, the concert",
        "on stage, in the album chart, at the concert, during the summer tour, in front of "
        "thousands of fans",
    ),
    _topic(
        "entertainment",
        "television and radio",
        "the broadcaster, the presenter, viewers, the comedy, the drama series, the channel, "
        "the comedian, the radio show",
        "watched the final episode, won the television award, cancelled the show, drew record "
        "ratings, hosted a reality show, launched a comedy series, replaced the presenter, "
        "missed the evening programme, complained about the drama, lost half the audience",
        "the series, the show, the comedy, the television audience, the final episode, the drama",
        "on television, in prime time, during the final episode, on the radio, after ten "
        "years on air",
    ),
    _topic(
        "entertainment",
        "stage and books",
        "the author, the playwright, the theatre, the museum, the publisher, the artist, the "
        "musical, book critics",
        "wrote a best-selling novel, won the book prize, staged a new play, opened an art "
        "exhibition, praised the musical, published a life story, sold a rare painting, took "
        "the leading role, filled the theatre, signed a book deal",
        "the novel, the musical, the art exhibition, the new play, the book, the theatre",
        "at the theatre, on opening night, in the gallery, at the book fair, in the West Quarter",
    ),
    _topic(
        "politics",
        "elections",
        "the prime minister, the opposition, voters, the party, the candidate, party "
        "activists, the Liberal leader, pollsters",
        "won the general election, led the opinion polls, launched the election campaign, "
        "attacked the prime minister, lost marginal seats, promised a fresh start, backed the "
        "party leader, defended the campaign, called an early election, appealed to voters",
        "the election, the campaign, the opinion poll, the party, voter turnout, the leadership",
        "before the election, on polling day, at the party conference, during the campaign, "
        "in a televised debate",
    ),
    _topic(
        "politics",
        "parliament and law",
        "the home secretary, ministers, the House of Lords, the committee, the high court, "
        "rebel members, civil rights groups, the government",
        "passed the terror bill, opposed new laws, proposed identity cards, defeated the "
        "government, challenged the court ruling, backed police powers, debated human rights, "
        "amended the bill, delayed the law, demanded a vote",
        "the bill, the law, the court ruling, the identity card plan, the vote, human rights",
        "in the Commons, in parliament, after a long debate, in the high court, by a small "
        "majority",
    ),
    _topic(
        "politics",
        "tax and public services",
        "the chancellor, the government, local councils, the health secretary, the Treasury, "
        "teachers, the minister, hospitals",
        "announced the budget, promised tax cuts, raised council tax, cut public spending, "
        "defended school reform, funded the health service, criticised the tax plan, planned "
        "extra money for schools, published the pensions bill, faced a spending gap",
        "the budget, council tax, public spending, the health service, school reform, the tax plan",
        "in the budget, before the spending review, in public services, despite the deficit, "
        "over the next parliament",
    ),
    _topic(
        "politics",
        "foreign affairs",
        "the foreign secretary, the president, European leaders, diplomats, the ambassador, "
        "the commission, the minister, the peace envoy",
        "signed the treaty, rejected the constitution, hosted trade talks, supported a peace "
        "deal, called a referendum, promised debt relief, met European ministers, urged more "
        "foreign aid, won support at the summit, left the talks early",
        "the European constitution, the peace deal, the treaty, the referendum, foreign aid, "
        "the summit",
        "at the summit, in European talks, after the referendum, at the embassy, in a speech "
        "to diplomats",
    ),
    _topic(
        "sport",
        "football",
        "the striker, the manager, the club, Ridgeway United, the goalkeeper, the midfielder, "
        "football fans, the referee",
        "scored the winning goal, missed a penalty, won the league title, reached the cup "
        "final, agreed a transfer deal, lost at home, saved a free kick, signed a new "
        "contract with the club, celebrated an away win, left the football club",
        "the cup final, the league, the goal, the penalty, the club, the transfer deal",
        "in the cup final, in injury time, in the league, in the second half, before the home "
        "match",
    ),
    _topic(
        "sport",
        "tennis",
        "the top seed, the tennis star, the defending champion, Ivo Marsden, the coach, the "
        "young qualifier, the number one, the crowd",
        "won the first set, reached the open final, lost the tie-break, saved three match "
        "points, beat the top seed, served for the match, enjoyed a straight sets win, left "
        "the court injured, played the best match of the season, won the open title",
        "the match, the first set, the world ranking, the open title, the serve, the final",
        "on centre court, in straight sets, in the final, in the third round, after a long match",
    ),
    _topic(
        "sport",
        "athletics",
        "the sprinter, the Olympic champion, the athlete, the marathon runner, the coach, the "
        "doping agency, Olympic officials, Tessa Lorne",
        "broke the world record, won Olympic gold, ran the marathon, missed a drugs test, won "
        "the indoor title, took a silver medal, trained for the championships, lost the race, "
        "set a record time, ran the best race of the season",
        "the world record, the race, the marathon, the gold medal, the drugs test, the indoor "
        "season",
        "at the Olympic Games, at the world championships, in record time, on the final lap, "
        "before the marathon",
    ),
    _topic(
        "sport",
        "rugby and cricket",
        "the captain, the England side, the fly-half, the bowler, the Welsh pack, the "
        "batsman, the rugby coach, the selectors",
        "scored a late try, won the grand slam, dropped the captain, beat Ireland, played the "
        "test match, lost to Wales, made an unbeaten century, picked the England squad, "
        "suffered a knee injury, won the rugby match",
        "the test match, the England squad, the knee injury, the grand slam, the late try, "
        "the rugby season",
        "in the opening match, against Ireland, before half-time, with a knee injury, on the "
        "final day of the test",
    ),
    _topic(
        "tech",
        "phones and broadband",
        "mobile operators, the phone maker, broadband users, the mobile network, the handset "
        "maker, the telecoms company, phone users, Vexcom",
        "launched a mobile service, upgraded the network, offered faster broadband, sold "
        "camera phones, tested video calls, signed up broadband users, cut the price of "
        "mobile phones, sent more text messages, won the network contract, connected rural "
        "homes to broadband",
        "broadband, the mobile phone, the network, the high-speed service, the handset, "
        "mobile video",
        "over the mobile network, through broadband, on the phone, with a broadband "
        "connection, as mobile prices fell",
    ),
    _topic(
        "tech",
        "software and security",
        "security experts, the software giant, hackers, spammers, the virus, computer users, "
        "the search engine, the open source group",
        "released a security patch, infected home computers, attacked the website, found a "
        "software flaw, blocked spam messages, stole personal data, downloaded the web "
        "browser, spread a computer virus, updated the software, warned net users",
        "the virus, the software, spam, the web browser, computer security, the search engine",
        "on the net, by email, on home computers, on the website, after the virus attack",
    ),
    _topic(
        "tech",
        "video games",
        "gamers, the games maker, the console, the game developer, players, the studio, the "
        "online game, Pixelforge",
        "released a video game, launched the new console, played the online game, sold a "
        "record number of games, designed the game graphics, won the best game award, delayed "
        "the console, built a virtual world, downloaded the game, opened a games studio",
        "the game, the console, the video game, game sales, the online world, the handheld device",
        "on the console, at the games show, in the online world, before the holiday season, "
        "on a handheld screen",
    ),
    _topic(
        "tech",
        "digital media and research",
        "researchers, music download sites, the electronics company, scientists, "
        "file-sharers, the chip maker, bloggers, the technology firm",
        "sold digital music, developed a faster chip, shared music files, built a portable "
        "player, demonstrated new technology, used digital cameras, stored video on a chip, "
        "launched a download service, wrote about technology, showed high-definition video",
        "digital music, the technology, the download service, the portable player, digital "
        "video, the chip",
        "at the technology show, on the web, in digital form, in the laboratory, with a "
        "digital camera",
    ),
)

SHARED = _topic(
    "",
    "shared",
    "a spokesman, the company, the group, the star, fans, the government, the team, the "
    "leader, critics, the chairman, users, the industry",
    "announced a new deal, won a record deal, wanted a bigger market, launched a "
    "campaign, lost the court case, welcomed the report, planned a new service, faced a "
    "long battle, won the final, changed the game, criticised the show, won public "
    "support",
    "the deal, the report, the market, the campaign, the game, the show, the court case, "
    "the service, the award, the network, the music industry, the final",
    "last year, this week, on Tuesday, for the first time, in recent months, after the "
    "deal, next month, across the country, in London, at the end of the year, on Friday, "
    "before the final",
)

QUALITIES: tuple[str, ...] = (
    "strong",
    "hard to predict",
    "a surprise",
    "under pressure",
    "a record success",
    "far from certain",
    "better than ever",
    "a talking point",
    "too expensive",
    "popular with fans",
)
